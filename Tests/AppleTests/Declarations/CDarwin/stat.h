// A structure and a function of one name, which Swift cannot declare.
struct stat {
  int st_dev;
  unsigned short st_mode;
  unsigned long long st_ino;
  long long st_size;
};
int stat(const char *path, struct stat *status);
