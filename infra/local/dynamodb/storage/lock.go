package storage

import (
	"hash/maphash"
	"slices"
	"sync"
)

// lockTable serializes writes of the same item. Items share a fixed number of locks by the hash of their key. Writes of
// several items lock in ascending order, so that they cannot deadlock.
type lockTable struct {
	seed    maphash.Seed
	stripes [1024]sync.Mutex
}

func newLockTable() *lockTable { return &lockTable{seed: maphash.MakeSeed()} }

// lock locks items.
func (l *lockTable) lock(keys [][]byte) (unlock func()) {
	stripes := make([]int, len(keys))
	for i, key := range keys {
		stripes[i] = int(maphash.Bytes(l.seed, key) % uint64(len(l.stripes)))
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
