touch model.py
mkdir mine
echo keep > mine/file
