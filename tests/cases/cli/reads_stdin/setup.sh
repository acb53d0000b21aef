echo 'x = 1' > in.py
