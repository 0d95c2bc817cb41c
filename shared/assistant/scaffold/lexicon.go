package scaffold

import (
	"strings"
	"sync"
)

// lexicon is a map that is made when it is first looked into: where another provider answers, none of them ever is.
type lexicon[K comparable, V any] struct{ entries func() map[K]V }

func lazily[K comparable, V any](entries func() map[K]V) lexicon[K, V] {
	return lexicon[K, V]{sync.OnceValue(entries)}
}

// of is the entry; the zero value if there is none.
func (l lexicon[K, V]) of(key K) V { return l.entries()[key] }

// look says as well whether there is one.
func (l lexicon[K, V]) look(key K) (V, bool) {
	v, ok := l.entries()[key]
	return v, ok
}

// listed is a lexicon of words, from lists of them by what they mean.
func listed[V comparable](lists map[V]string) lexicon[string, V] {
	return lazily(func() map[string]V {
		out := map[string]V{}
		for v, words := range lists {
			for w := range strings.FieldsSeq(words) {
				out[w] = v
			}
		}
		return out
	})
}
