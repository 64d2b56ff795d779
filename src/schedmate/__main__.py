from schedmate.cli import main

main()
