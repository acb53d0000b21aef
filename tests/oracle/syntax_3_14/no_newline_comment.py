a
# c