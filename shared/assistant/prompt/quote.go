package prompt

import (
	"strings"
	"unicode/utf8"

	"devplatform/shared/project/path"
)

// closers are the quotation marks by their opening ones.
var closers = map[rune]string{
	'`': "`", '"': `"`, '\'': "'", '“': "”", '„': "“", '‘': "’", '«': "»", '‹': "›", '「': "」", '『': "』", '《': "》",
}

// maxOpeners is how many marks are tried for the same closing one, those that are nearest to it. With it, the texts that are looked at
// for one kind of marks are together no longer than that many times the message.
const maxOpeners = 4

// quotation is what stands between two marks.
type quotation struct {
	mark     rune
	at, end  int // of the text
	openedBy int // where the mark is
}

// quotesIn are the quoted names that are accepted. Any mark may open a quotation: an apostrophe before it must not hide one.
func quotesIn(message string, accept func(text string, quoted bool) bool) []word {
	var found []word
	end := 0
	for _, q := range quotationsIn(message) {
		if q.openedBy < end {
			continue
		}
		text := message[q.at:q.end]
		called := lineNumber.ReplaceAllString(text, "")
		if !accept(called, true) {
			if called == text || !accept(text, true) {
				continue
			}
			called = text
		}
		found = append(found, word{at: q.at, end: q.end, quoted: true, names: []string{called}, whole: 1, bare: called})
		end = q.end
	}
	return found
}

// quotationsIn are the texts between marks, on one line and not too long for a path, in the order of their opening marks.
func quotationsIn(message string) []quotation {
	var all []quotation
	next := map[string]int{} // of each closing mark and of line breaks, the place that was found last
	find := func(what string, from int) int {
		at, known := next[what]
		if known && at >= from {
			return at
		}
		if at = strings.Index(message[from:], what); at < 0 {
			at = len(message)
		} else {
			at += from
		}
		next[what] = at
		return at
	}
	for at, r := range message {
		closer := closers[r]
		if closer == "" {
			continue
		}
		from := at + utf8.RuneLen(r)
		end := find(closer, from)
		if end < len(message) && end > from && end-from <= path.MaxBytes && end < find("\n", from) {
			all = append(all, quotation{r, from, end, at})
		}
	}
	return nearest(all)
}

// nearest leaves out the marks that too many others are nearer than to the same closing one.
func nearest(all []quotation) []quotation {
	type closing struct {
		mark rune
		end  int
	}
	left := map[closing]int{}
	for _, q := range all {
		left[closing{q.mark, q.end}]++
	}
	kept := all[:0]
	for _, q := range all {
		c := closing{q.mark, q.end}
		if left[c] <= maxOpeners {
			kept = append(kept, q)
		}
		left[c]--
	}
	return kept
}
