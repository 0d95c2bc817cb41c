// Package soak holds the tests of many clients, of full disks and of long times: 10,000 connections at once; a disk
// that something else fills, where nothing acknowledged is lost; and a day of a small service's traffic in minutes,
// after which the platform and its functions take no more than before.
package soak
