import "second.swift"
