"""python -m service.cli is xetune."""

from service.cli.main import main

if __name__ == "__main__":
    main()
