// A test
