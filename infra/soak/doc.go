// Package soak contains tests with many clients, with a full disk, and with a long run: 10,000 connections at once; a
// disk that another program fills, on which no acknowledged data is lost; and a day of a small service's traffic in
// minutes, after which the platform and its functions use no more resources than before.
package soak
