//go:build !linux

package soak

import "errors"

func mount(string, int) error { return errors.New("not on this system") }

func unmount(string) error { return nil }
