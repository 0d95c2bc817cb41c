package dynamodb

import (
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestProtocol checks the parts of the JSON protocol that are specific to DynamoDB.
func TestProtocol(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for _, body := range []string{`{"TableName":"hash","Key":{"pk":{"S":"a"}}}`, `{"TableName":"none"}`} {
		got := call(t, db, "GetItem", body)
		if want := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(got.raw))), 10); got.header.Get("X-Amz-Crc32") != want {
			t.Errorf("checksum %s, want %s", got.header.Get("X-Amz-Crc32"), want)
		}
	}
	if got := call(t, db, "PutItem", strings.Repeat(" ", maxRequestBytes+1)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a request of more than 16 MB: got %d", got.status)
	}
}
