# coding=shift_jis
x = '日本語' + y  # 表
