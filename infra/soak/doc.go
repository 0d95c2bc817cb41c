// Package soak holds the tests of many clients and of long times: 10,000 connections, and a day of a small service's traffic
// in minutes, after which the platform and its functions take no more than before.
package soak
