def f():
    x = 1
        y = 2
        z = 3
    return x


  def g():
      return 1


def h():
    return 2
