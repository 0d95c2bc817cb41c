package dynamodb

import (
	"hash/maphash"
	"slices"
	"sync"
)

// lockTable serialises writers of the same item and lets others pass. Items
// share a fixed number of locks by the hash of their key; whoever needs several
// takes them in ascending order, so that transactions never deadlock.
type lockTable struct {
	seed    maphash.Seed
	stripes [1024]sync.Mutex
}

func (l *lockTable) init() { l.seed = maphash.MakeSeed() }

func (l *lockTable) stripe(key []byte) int {
	return int(maphash.Bytes(l.seed, key) % uint64(len(l.stripes)))
}

// lock takes one item's lock and returns its release.
func (l *lockTable) lock(key []byte) (unlock func()) {
	mutex := &l.stripes[l.stripe(key)]
	mutex.Lock()
	return mutex.Unlock
}

// lockAll takes the locks of several items and returns their release.
func (l *lockTable) lockAll(keys [][]byte) (unlock func()) {
	stripes := make([]int, len(keys))
	for i, key := range keys {
		stripes[i] = l.stripe(key)
	}
	slices.Sort(stripes)
	stripes = slices.Compact(stripes)
	for _, stripe := range stripes {
		l.stripes[stripe].Lock()
	}
	return func() {
		for _, stripe := range stripes {
			l.stripes[stripe].Unlock()
		}
	}
}
