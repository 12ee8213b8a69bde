import BorealisBase

struct InitCommand: Command {
  static let name = "init"
  static let summary = "Makes a database."
  static let details = """
    Makes the folder DIR and the database in it, or the tables in the database that --store names. What is there already stays
    as it is. "borealis serve" does the same when it starts; no other command makes a database, so that a mistyped DIR is
    noticed.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    try folder.initialize()
    Terminal.print(["database": .string(folder.database)])
  }
}
