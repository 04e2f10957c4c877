import "first.swift"
