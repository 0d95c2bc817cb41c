package scaffold

import (
	"maps"
	"slices"
	"sync"
)

// Words of the vocabulary that a typing error may have spoilt, in a fixed order, so that ties are broken alike every time.
var (
	thingWords = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(things.entries())) })
	verbWords  = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(verbs.entries())) })
)

// notTypos are words of their own that come close to one of the vocabulary.
var notTypos = setOf("deleted renamed installed instal added removes renames deletes explained tests' describing explaining from farm cable fable tables tabled rest rests text texts best chest helpers hooked hooks stored clint lists lest last " +
	"firm forms farms pages paged stare storage score restore desert addition moved removed tested created creates makers maker resources source sources " +
	"related locate recreate explained describes form's views review reviews interview router roots roots component's utilize removal mode movie love product products provider providers charge chance concert convent extent insect formal service services designer builder editor updates handle handles handled")

// closest is the word of the vocabulary that low was meant to be; "" if none. In words of six letters and more one letter may be
// wrong, missing or too many; in shorter ones two neighbours exchanged.
func closest(low string, vocabulary []string) string {
	if len(low) < 4 || len(low) > 20 || notTypos.of(low) {
		return ""
	}
	for _, v := range vocabulary {
		if len(v) < 4 || low[0] != v[0] {
			continue
		}
		if exchanged(low, v) || len(v) >= 6 && oneOff(low, v) {
			return v
		}
	}
	return ""
}

// exchanged reports that two neighbours changed places.
func exchanged(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// oneOff reports one letter wrong, missing or too many.
func oneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
