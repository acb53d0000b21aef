_add("npu_red", """a [31mred[0m  ‮ rtl	cell""")
