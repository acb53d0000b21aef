# c

   # d
