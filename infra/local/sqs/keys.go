package sqs

import "encoding/binary"

// The key space. Every key begins with a byte for its kind. Queues and messages
// have numbers that are never used twice, so that what refers to a deleted one
// (a receipt handle) never means another.
const (
	spaceQueue = 0x01 // queue number → queue record (JSON)
	spaceEpoch = 0x02 // → how often the folder was opened; see counterBits
	spaceBody  = 0x03 // message number → content: what never changes, and may be large
	spaceEntry = 0x04 // queue number, message number → entry: where the message stands
	spaceMove  = 0x05 // move task id → move task (JSON)
)

// Message numbers are the folder's epoch and a counter in it: numbers that were
// handed out and whose messages are gone need no trace on disk.
const counterBits = 40

func queueKey(queue uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{spaceQueue}, queue)
}

func bodyKey(message uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{spaceBody}, message)
}

func entryKey(queue uint32, message uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{spaceEntry}, queue), message)
}

func moveKey(task string) []byte { return append([]byte{spaceMove}, task...) }

// queueEnd is the first key behind all entries of a queue.
func queueEnd(queue uint32) []byte { return binary.BigEndian.AppendUint32([]byte{spaceEntry}, queue+1) }
