package dynamodb

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"devplatform/infra/local/dynamodb/attr"
	"devplatform/infra/local/dynamodb/expr"

	"github.com/cockroachdb/pebble/v2"
)

// maxPageBytes is how much a Query or Scan reads, before filters.
const maxPageBytes = 1 << 20

// source is what a Query or Scan reads: a table or one of its indexes.
type source struct {
	table *table
	index *index // nil for the table itself
}

func (s source) keys() keySchema {
	if s.index != nil {
		return s.index.keys
	}
	return s.table.keys
}

func (s source) prefix() []byte {
	if s.index != nil {
		return spaceKey(spaceIndex, s.index.ID)
	}
	return spaceKey(spaceItems, s.table.ID)
}

// position is where an item lies in the source.
func (s source) position(item attr.Item) []byte {
	if s.index != nil {
		return s.index.key(s.table, item)
	}
	return s.table.itemKey(item)
}

// pageKeys are the attributes that name a place in the source: the keys of the
// table, and of the index.
func (s source) pageKeys() keySchema {
	if s.index == nil {
		return s.table.keys
	}
	keys := slices.Clone(s.table.keys)
	for _, key := range s.index.keys {
		if !keys.has(key.Name) {
			keys = append(keys, key)
		}
	}
	return keys
}

// span is a part of the key space: from lower, included, to upper, excluded.
type span struct{ lower, upper []byte }

func prefixSpan(prefix []byte) span { return span{prefix, prefixEnd(prefix)} }

func (s span) contains(position []byte) bool {
	return bytes.Compare(s.lower, position) <= 0 && bytes.Compare(position, s.upper) < 0
}

// after cuts off everything up to a position, in the direction of reading.
func (s span) after(position []byte, reverse bool) span {
	if reverse {
		if bytes.Compare(position, s.upper) < 0 {
			s.upper = position
		}
		return s
	}
	if next := append(bytes.Clone(position), 0); bytes.Compare(next, s.lower) > 0 {
		s.lower = next
	}
	return s
}

// pageRequest is what to read.
type pageRequest struct {
	source     source
	span       span
	reverse    bool
	limit      int // 0: none but the page's size
	filter     *expr.Condition
	projection *expr.Projection
	countOnly  bool
}

// page is what was read.
type page struct {
	items   []attr.Item
	count   int
	scanned int
	size    int       // bytes read
	last    attr.Item // the last item read
	ended   bool      // nothing of the span is left
}

// pageResponse is the answer of Query and Scan.
type pageResponse struct {
	Items            *[]attr.Item `json:",omitzero"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey attr.Item         `json:",omitzero"`
	ConsumedCapacity *consumedCapacity `json:",omitzero"`
}

// readPage reads one page: it ends at the limit, before the item that would make it
// larger than 1 MB, or at the end of the span. It costs what it reads.
func (db *DB) readPage(request pageRequest) (*page, error) {
	result := &page{items: []attr.Item{}, ended: true}
	if bytes.Compare(request.span.lower, request.span.upper) >= 0 {
		return result, nil
	}
	iterator, err := db.folder.DB.NewIter(&pebble.IterOptions{LowerBound: request.span.lower, UpperBound: request.span.upper})
	if err != nil {
		return nil, fmt.Errorf("reading a page: %w", err)
	}
	first, next := iterator.First, iterator.Next
	if request.reverse {
		first, next = iterator.Last, iterator.Prev
	}
	more := true
	for valid := first(); valid && more; valid = next() {
		if more, err = result.add(&request, iterator.Value()); err != nil {
			break
		}
	}
	result.ended = more
	if err := errors.Join(err, iterator.Error(), iterator.Close()); err != nil {
		return nil, fmt.Errorf("reading a page: %w", err)
	}
	return result, nil
}

// add takes one stored item into the page; false when the page has ended.
func (p *page) add(request *pageRequest, stored []byte) (more bool, err error) {
	item, err := attr.DecodeStoredItem(stored)
	if err != nil {
		return false, err
	}
	size := item.Size()
	if p.scanned > 0 && p.size+size > maxPageBytes {
		return false, nil
	}
	p.scanned++
	p.size += size
	p.last = item
	if matches(request.filter, item) {
		p.count++
		if !request.countOnly {
			p.items = append(p.items, project(request.projection, item))
		}
	}
	return request.limit == 0 || p.scanned < request.limit, nil
}

func project(projection *expr.Projection, item attr.Item) attr.Item {
	if projection == nil || item == nil {
		return item
	}
	projected := projection.Apply(item)
	if projected == nil {
		projected = attr.Item{}
	}
	return projected
}
