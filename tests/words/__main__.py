from tests.words.check import main

main()
