package io.borealis.getui;

/** A tag. */
public class Tag {
  private String name;

  /** A tag without a name. */
  public Tag() {}

  /**
   * The name.
   *
   * @return null if there is none
   */
  public String getName() {
    return name;
  }

  /**
   * Sets the name.
   *
   * @param name at most 32 characters, or 40 bytes
   * @return this
   */
  public Tag setName(String name) {
    this.name = name;
    return this;
  }
}
