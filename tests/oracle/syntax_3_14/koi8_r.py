
# coding: koi8-r
привет = 'мир'
