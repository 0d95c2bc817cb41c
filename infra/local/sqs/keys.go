package sqs

import "encoding/binary"

// The first byte of every key. The numbers of queues and messages are never used twice, so that a receipt handle of a
// deleted message never refers to another one.
const (
	spaceQueue = 0x01 // queue number → queueRecord as JSON
	spaceEpoch = 0x02 // → how often the folder was opened, and the next queue number; see counterBits
	spaceBody  = 0x03 // message number → content, which never changes and may be large
	spaceEntry = 0x04 // queue number, message number → state of the message
	// 0x05 was used by an earlier version.
)

// counterBits is the size of the counter in a message number. The bits above it are the epoch, so that the counter does
// not have to be stored.
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

// queueEnd returns the first key after all entries of a queue.
func queueEnd(queue uint32) []byte { return binary.BigEndian.AppendUint32([]byte{spaceEntry}, queue+1) }
