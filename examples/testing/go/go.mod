module hblite.example/testing

go 1.21
