package dynamodb

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// BenchmarkPutWithStream shows the cost of a stream for writes.
func BenchmarkPutWithStream(b *testing.B) {
	for _, place := range []string{"memory", "disk"} {
		for _, view := range []string{"none", viewKeys, viewNew, viewBoth} {
			b.Run(place+"/"+view, func(b *testing.B) {
				db := benchmarkDB(b, place)
				if view != "none" {
					must(b, db, "UpdateTable", `{"TableName":"range","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"`+view+`"}}`)
				}
				var next atomic.Int64
				b.ReportAllocs()
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						n := next.Add(1)
						body := fmt.Sprintf(`{"TableName":"range","Item":{"pk":{"S":"USER#%d"},"sk":{"S":"SESSION"},"email":{"S":"somebody@example.org"},"n":{"N":"%d"}}}`, n%1000, n)
						if status := serve(db, "PutItem", body); status != http.StatusOK {
							b.Errorf("%d", status)
						}
					}
				})
			})
		}
	}
}

// BenchmarkGetRecords shows the cost of a read without new records, and of a page of records.
func BenchmarkGetRecords(b *testing.B) {
	for _, records := range []int{0, 10_000} {
		s := openStreaming(b, nil)
		arn := s.create(b, "things", types.StreamViewTypeNewImage)
		for first := 0; first < records; first += maxBatchWrites {
			puts := make([]string, maxBatchWrites)
			for n := range puts {
				puts[n] = fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"},"v":{"S":"some value"}}}}`, first+n)
			}
			must(b, s.db, "BatchWriteItem", `{"RequestItems":{"things":[`+strings.Join(puts, ",")+`]}}`)
		}
		idle, first := s.iterator(b, arn, latest, nil), s.iterator(b, arn, trimHorizon, nil)
		b.Run(fmt.Sprintf("Idle/%d", records), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if status := serveTarget(s.db, streamsPrefix+"GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, idle)); status != http.StatusOK {
					b.Fatal(status)
				}
			}
		})
		b.Run(fmt.Sprintf("IdleOverHTTP/%d", records), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.streams.GetRecords(b.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &idle}); err != nil {
					b.Fatal(err)
				}
			}
		})
		if records == 0 {
			continue
		}
		for _, limit := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("Page/%d", limit), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if status := serveTarget(s.db, streamsPrefix+"GetRecords", fmt.Sprintf(`{"ShardIterator":%q,"Limit":%d}`, first, limit)); status != http.StatusOK {
						b.Fatal(status)
					}
				}
			})
		}
	}
}
