_add("npu_whole", """
功能描述
完整。
""")
_add("npu_cut", """
功能描述
被截
