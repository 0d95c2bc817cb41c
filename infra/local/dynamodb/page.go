package dynamodb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/expressions"
	"devplatform/infra/local/dynamodb/values"
)

// maxPageBytes is the maximum size of the items that a page reads, before filters.
const maxPageBytes = 1 << 20

// source is a table or one of its indexes.
type source struct {
	Table *table
	Index *index // nil for the table itself
}

func (s source) key() keySchema {
	if s.Index != nil {
		return s.Index.Key
	}
	return s.Table.Key
}

// pageKey returns the attributes that identify a place in the source: the keys of the table and of the index.
func (s source) pageKey() keySchema {
	keys := slices.Clone(s.Table.Key)
	for _, key := range s.key() {
		if !keys.has(key.Name) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s source) prefix() []byte {
	if s.Index != nil {
		return numberedKey(datafolder.SpaceIndex, s.Index.ID)
	}
	return numberedKey(datafolder.SpaceItem, s.Table.ID)
}

func (s source) position(item values.Item) []byte {
	if s.Index != nil {
		return indexKey(s.Table, s.Index, item)
	}
	return itemKey(s.Table, item)
}

// span is a part of a source: the keys from lower to before upper.
type span struct{ lower, upper []byte }

func prefixSpan(prefix []byte) span { return span{prefix, datafolder.PrefixEnd(prefix)} }

func (s span) contains(position []byte) bool {
	return bytes.Compare(s.lower, position) <= 0 && bytes.Compare(position, s.upper) < 0
}

// after returns the rest of a span after an item, in the direction of reading. It returns false if the item is not in
// the span.
func (s source) after(whole span, item values.Item, reverse bool) (span, bool) {
	position := s.position(item)
	if !whole.contains(position) {
		return whole, false
	}
	if reverse {
		return span{whole.lower, position}, true
	}
	return span{append(position, 0), whole.upper}, true
}

// segment returns a segment of a source. Hash keys are distributed evenly over the partitions, which segments divide.
func (s source) segment(segment, total int64) span {
	const partitions = 1 << 32
	whole := prefixSpan(s.prefix())
	boundary := func(n int64) []byte {
		return binary.BigEndian.AppendUint32(bytes.Clone(whole.lower), uint32(partitions*n/total))
	}
	part := span{boundary(segment), whole.upper}
	if segment+1 < total {
		part.upper = boundary(segment + 1)
	}
	return part
}

// selection returns the part of a source with a hash key whose items satisfy the condition of the range key, which can
// be nil.
func (s source) selection(hash values.Value, term *expressions.KeyTerm) span {
	return termSpan(appendPartition(s.prefix(), hash), term)
}

// keyEndBytes is the length of the mark at the end of an encoded string or binary key. Without the mark, the encoding
// of a value is a prefix of the encodings of all values that begin with this value.
const keyEndBytes = 2

// termSpan returns the keys with a prefix that satisfy the condition of the range key. No encoded key is a prefix of
// another, so the keys with a range key v are those that begin with its encoding.
func termSpan(prefix []byte, term *expressions.KeyTerm) span {
	whole := prefixSpan(prefix)
	if term == nil {
		return whole
	}
	from := term.A.AppendKey(bytes.Clone(prefix))
	switch term.Op {
	case expressions.Less:
		return span{whole.lower, from}
	case expressions.LessEqual:
		return span{whole.lower, datafolder.PrefixEnd(from)}
	case expressions.Greater:
		return span{datafolder.PrefixEnd(from), whole.upper}
	case expressions.GreaterEqual:
		return span{from, whole.upper}
	case expressions.Between:
		return span{from, datafolder.PrefixEnd(term.B.AppendKey(bytes.Clone(prefix)))}
	case expressions.BeginsWith:
		return prefixSpan(from[:len(from)-keyEndBytes])
	default:
		return prefixSpan(from)
	}
}

type readResult struct {
	Scanned int
	Bytes   int
	Last    values.Item // the last item
	Ended   bool        // the span has no more items
}

// readPage reads one page, and calls take with each item. It ends at the limit, if the limit is not 0, before an item
// that would make it larger than 1 MB, or at the end of the span.
func (s *store) readPage(
	keys span, reverse bool, limit int, take func(values.Item),
) (page readResult, err error) {
	page.Ended = true
	if bytes.Compare(keys.lower, keys.upper) >= 0 {
		return page, nil
	}
	iterator, err := s.DB.NewIter(&pebble.IterOptions{LowerBound: keys.lower, UpperBound: keys.upper})
	if err != nil {
		return page, fmt.Errorf("reading a page: %w", err)
	}
	begin, next := iterator.First, iterator.Next
	if reverse {
		begin, next = iterator.Last, iterator.Prev
	}
	for ok := begin(); ok && page.Ended && err == nil; ok = next() {
		var item values.Item
		if item, err = values.DecodeStoredItem(iterator.Value()); err != nil {
			break
		}
		size := item.Size()
		if page.Scanned > 0 && page.Bytes+size > maxPageBytes {
			page.Ended = false
			break
		}
		page.Scanned++
		page.Bytes += size
		page.Last = item
		take(item)
		page.Ended = page.Scanned != limit
	}
	return page, errors.Join(err, iterator.Error(), iterator.Close())
}
