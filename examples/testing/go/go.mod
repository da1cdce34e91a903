module example/orders

go 1.21

require hblite.example/hblitetest v0.0.0
