touch good.py
mkfifo pipe.py
truncate -s 70M huge.py
