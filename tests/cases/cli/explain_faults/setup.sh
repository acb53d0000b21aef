touch model.py
