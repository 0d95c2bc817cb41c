package dynamodb

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder/disktest"
)

// BenchmarkWire measures requests without the network: decode, execute, encode.
func BenchmarkWire(b *testing.B) {
	for _, place := range []string{"memory", "disk"} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", place, clients), func(b *testing.B) {
				benchmarkOperations(b, place, clients)
			})
		}
	}
}

func benchmarkOperations(b *testing.B, place string, clients int) {
	b.Helper()
	const item = `"pk":{"S":"USER#%d"},"sk":{"S":"SESSION#%d"},"email":{"S":"somebody@example.org"},"created":{"N":"1790000000"},"flags":{"SS":["a","b"]}`
	for _, test := range []struct {
		name, operation string
		body            func(n int64) string
	}{
		{"Put", "PutItem", func(n int64) string { return fmt.Sprintf(`{"TableName":"range","Item":{`+item+`}}`, n, n) }},
		{"Get", "GetItem", func(n int64) string {
			return fmt.Sprintf(`{"TableName":"range","Key":{"pk":{"S":"USER#%d"},"sk":{"S":"SESSION#%d"}}}`, n%1000, n%1000)
		}},
		{"Query", "Query", func(n int64) string {
			return fmt.Sprintf(`{"TableName":"range","KeyConditionExpression":"pk = :p AND begins_with(sk, :s)","ExpressionAttributeValues":{":p":{"S":"USER#%d"},":s":{"S":"SESSION#"}}}`, n%1000)
		}},
		{"TransactWrite", "TransactWriteItems", func(n int64) string {
			return fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"range","Item":{`+item+`},"ConditionExpression":"attribute_not_exists(pk)"}},{"Update":{"TableName":"hash","Key":{"pk":{"S":"%d"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`, n+1_000_000, n, n)
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			db := benchmarkDB(b, place)
			for i := range int64(1000) {
				must(b, db, "PutItem", fmt.Sprintf(`{"TableName":"range","Item":{`+item+`}}`, i, i))
			}
			var next atomic.Int64
			b.ReportAllocs()
			b.SetParallelism((clients + 1) / 2)
			b.ResetTimer()
			run := func() {
				if status := serve(db, test.operation, test.body(next.Add(1))); status != http.StatusOK {
					b.Errorf("%s: %d", test.operation, status)
				}
			}
			if clients == 1 {
				for range b.N {
					run()
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					run()
				}
			})
		})
	}
}

func benchmarkDB(b *testing.B, place string) *DB {
	b.Helper()
	db := openTest(b, func(o *Options) {
		if place == "disk" {
			o.Folder = disktest.Open(b, filepath.Join(b.TempDir(), "data"), nil)
		}
	})
	must(b, db, "CreateTable", hashTable)
	must(b, db, "CreateTable", rangeTable)
	return db
}

func serve(db *DB, operation, body string) int { return serveTarget(db, targetPrefix+operation, body) }

func serveTarget(db *DB, target, body string) int {
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", awsjson.Version10)
	request.Header.Set("X-Amz-Target", target)
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	request.Header.Set("Authorization", testAuthorization)
	recorder := httptest.NewRecorder()
	db.ServeHTTP(recorder, request)
	return recorder.Code
}

// BenchmarkQueryBySize shows that a query of ten items costs the same for all sizes of the table.
func BenchmarkQueryBySize(b *testing.B) {
	for _, items := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			db := benchmarkDB(b, "memory")
			for i := 0; i < items; i += 25 {
				puts := make([]string, 25)
				for j := range puts {
					puts[j] = fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"},"sk":{"S":"%02d"},"v":{"S":"some value"}}}}`, (i+j)/10, (i+j)%10)
				}
				must(b, db, "BatchWriteItem", `{"RequestItems":{"range":[`+strings.Join(puts, ",")+`]}}`)
			}
			var n int
			b.ReportAllocs()
			for b.Loop() {
				n++
				body := fmt.Sprintf(`{"TableName":"range","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"%d"}}}`, n%(items/10))
				if status := serve(db, "Query", body); status != http.StatusOK {
					b.Fatal(status)
				}
			}
		})
	}
}
