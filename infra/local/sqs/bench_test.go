package sqs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// status is ask that returns only the status.
func status(s *Store, operation, body string) int {
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	request.Header.Set("X-Amz-Target", targetPrefix+operation)
	request.Header.Set("Authorization", testAuthorization)
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	return recorder.Code
}

func urlMember(name string) string { return `"QueueUrl":"` + queueURL(name) + `"` }

// fill sends n messages of one kilobyte.
func fill(t testing.TB, s *Store, name string, n int) {
	t.Helper()
	entries := make([]string, 10)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"Id":"%d","MessageBody":"%s","MessageGroupId":"g%d"}`, i, strings.Repeat("x", 1000), i)
	}
	body := `{` + urlMember(name) + `,"Entries":[` + strings.Join(entries, ",") + `]}`
	for range n / 10 {
		if code := status(s, "SendMessageBatch", body); code != http.StatusOK {
			t.Fatal(code)
		}
	}
}

// BenchmarkThrough sends, receives and deletes messages in batches of ten.
func BenchmarkThrough(b *testing.B) {
	for _, place := range []string{"memory", "disk"} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", place, clients), func(b *testing.B) {
				s := openTest(b, func(o *Options) {
					if o.Now = time.Now; place == "disk" {
						o.Dir = filepath.Join(b.TempDir(), "data")
					}
				})
				must(b, s, "CreateQueue", `{"QueueName":"q"}`)
				var deleted atomic.Int64
				b.ReportAllocs()
				b.SetParallelism((clients + 1) / 2)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						fill(b, s, "q", 10)
						got := must(b, s, "ReceiveMessage", `{URL(q),"MaxNumberOfMessages":10}`)
						messages, _ := got.body["Messages"].([]any)
						entries := make([]string, len(messages))
						for i, m := range messages {
							entries[i] = fmt.Sprintf(`{"Id":"%d","ReceiptHandle":"%s"}`, i, m.(map[string]any)["ReceiptHandle"])
						}
						must(b, s, "DeleteMessageBatch", `{URL(q),"Entries":[`+strings.Join(entries, ",")+`]}`)
						deleted.Add(int64(len(messages)))
					}
				})
				b.ReportMetric(float64(deleted.Load())/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}

// BenchmarkBySize measures that the cost of a receive does not depend on the size of the queue.
func BenchmarkBySize(b *testing.B) {
	for _, size := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "data")
			s, err := Open(Options{Dir: dir, Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			must(b, s, "CreateQueue", `{"QueueName":"q"}`)
			fill(b, s, "q", size)
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begun := time.Now()
			s = openTest(b, func(o *Options) { o.Dir, o.Now = dir, time.Now })
			opened := time.Since(begun)
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportAllocs()
			for b.Loop() {
				status(s, "GetQueueAttributes", `{`+urlMember("q")+`,"AttributeNames":["All"]}`)
				status(s, "ReceiveMessage", `{`+urlMember("q")+`,"VisibilityTimeout":0}`)
			}
			b.ReportMetric(float64(opened.Milliseconds()), "ms-to-open")
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(size), "bytes/message")
		})
	}
}
