package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// markerRoom is more than the line takes that says what was left out, in bytes.
const markerRoom = 64

// cut is a text of at most so many bytes: two parts of its head and one of its tail, at ends of lines where there are any near, and
// between them a line that says how much is missing.
func cut(text string, budget int) (short string, isCut bool) {
	if len(text) <= budget {
		return text, false
	}
	room := budget - markerRoom
	if room <= 0 {
		return "", true
	}
	head, tail := headOf(text, room*2/3), tailOf(text, room-room*2/3)
	middle := text[len(head) : len(text)-len(tail)]
	if (head == "" || strings.HasSuffix(head, "\n")) && strings.HasSuffix(middle, "\n") {
		return fmt.Sprintf("%s[… %d lines left out …]\n%s", head, strings.Count(middle, "\n"), tail), true
	}
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", head, utf8.RuneCountInString(middle), tail), true
}

// headOf is the beginning of a text, of at most n bytes: whole lines, unless that costs half of it.
func headOf(text string, n int) string {
	if end := strings.LastIndexByte(text[:n], '\n') + 1; end > n/2 {
		return text[:end]
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// tailOf is the end of a text, as headOf its beginning.
func tailOf(text string, n int) string {
	from := len(text) - n
	if end := strings.IndexByte(text[from-1:], '\n'); end >= 0 && end < n/2 {
		return text[from+end:]
	}
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// shares divides a budget among parts of some sizes: each gets what it needs, or else as much as every other that needs more.
func shares(sizes []int, budget int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	got := make([]int, len(sizes))
	for done, i := range order {
		got[i] = min(sizes[i], max(0, budget)/(len(order)-done))
		budget -= got[i]
	}
	return got
}
