// Of the members, the one that the device library reads.
struct utsname {
  char machine[256];
};
int uname(struct utsname *name);
