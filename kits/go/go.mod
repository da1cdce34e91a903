module hblite.example/hblitetest

go 1.21
