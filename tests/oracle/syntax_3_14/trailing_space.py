if a:
    b
    