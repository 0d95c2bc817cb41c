package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/platformtest"
)

// deliveredWithin is the longest time until an event is delivered once everything works again. A message whose function
// failed is visible again after three minutes. If a message was lost, the retry job sends another one after two minutes,
// and it runs once a minute.
const deliveredWithin = 5 * time.Minute

// stored is everything in all tables, as text by key, but for what changes by itself.
func (w *world) stored() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, table := range []string{"AccountsTable", "ProjectsTable", "ContentsTable", "ConversationsTable", "WebhooksTable", "EventsTable"} {
		for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-"+table) {
			data, err := json.Marshal(item)
			must(w.t, err)
			all[table+" "+str(item["pk"])+" "+str(item["sk"])] = string(data)
		}
	}
	return all
}

func str(value types.AttributeValue) string {
	s, _ := value.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

var expiry = regexp.MustCompile(`"expiresAt":\{"Value":"(\d+)"\}`)

// expired reports whether an item's time is over: DynamoDB deletes it whenever it likes, whatever else fails.
func expired(item string) bool {
	found := expiry.FindStringSubmatch(item)
	if found == nil {
		return false
	}
	at, err := strconv.ParseInt(found[1], 10, 64)
	return err == nil && at <= time.Now().Unix()
}

// difference are the keys of what is in one of the two and not, or otherwise, in the other. What has expired may be gone.
func difference(before, after map[string]string) []string {
	var keys []string
	for key, value := range after {
		if before[key] != value {
			keys = append(keys, key)
		}
	}
	for key, value := range before {
		if _, ok := after[key]; !ok && !expired(value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// audit holds what the project shows of itself against itself: files are those that the feed tells of, their contents are theirs,
// the counters count them; tokens that are set aside are those of answers that have not ended, and no turn of the conversation is half there.
func (w *world) audit() {
	w.t.Helper()
	at := "/api/projects/" + w.project
	files := w.ada.Do("GET", at+"/files", "").List(w.t, "files")
	size := 0
	listed := map[string]string{}
	for _, f := range files {
		path, version := text(f, "path"), text(f, "version")
		listed[path] = version
		read := w.ada.Do("GET", at+"/files?path="+url.QueryEscape(path), "").Want(w.t, 200)
		content := text(read, "content")
		sum := sha256.Sum256([]byte(content))
		if hex.EncodeToString(sum[:]) != text(f, "sha256") || float64(len(content)) != f["size"] || text(read, "version") != version {
			w.t.Errorf("%s is %v, its content %q", path, f, content)
		}
		size += len(content)
		if versions := w.ada.Do("GET", at+"/files/history?path="+url.QueryEscape(path), "").List(w.t, "versions"); text(versions[0], "version") != version {
			w.t.Errorf("the history of %s begins with %v, the file is %v", path, versions[0], f)
		}
	}
	if told := w.replay(); !equal(told, listed) {
		w.t.Errorf("the feed tells of %v, there is %v", told, listed)
	}
	for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-ProjectsTable") {
		if str(item["pk"]) != "PROJECT#"+w.project || str(item["sk"]) != "TREE" {
			continue
		}
		if n, b := number(item["files"]), number(item["bytes"]); n != len(files) || b != size {
			w.t.Errorf("counted are %d files of %d bytes, there are %d of %d", n, b, len(files), size)
		}
	}
	w.auditTokens()
	messages := w.ada.Do("GET", "/api/ai/conversations/"+w.project+"?limit=100", "").List(w.t, "messages")
	for i, m := range messages {
		if want := []string{"user", "assistant"}[i%2]; m["role"] != want {
			w.t.Errorf("message %d of %d is the %v's: half a turn was kept", i, len(messages), m["role"])
		}
	}
}

// auditTokens holds what is set aside against the answers that have begun and not ended: of one whose reservation was made and could not
// be confirmed, it stays so until the quota has need of it.
func (w *world) auditTokens() {
	w.t.Helper()
	open := 0
	for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-ConversationsTable") {
		if item["startedAt"] != nil && item["end"] == nil {
			open += number(item["tokens"])
		}
	}
	if month := w.ada.Do("GET", "/api/ai/usage", "").Want(w.t, 200); month["reservedTokens"] != float64(open) {
		w.t.Errorf("answers that have not ended set %d tokens aside: %v", open, month)
	}
}

// replay is every file with its version, as the events of the feed, from the oldest to the newest, leave them.
func (w *world) replay() map[string]string {
	w.t.Helper()
	feed := w.ada.Feed(w.project)
	ids := make([]string, 0, len(feed))
	for id := range feed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	files := map[string]string{}
	for _, id := range ids {
		var e struct {
			Type string
			Data struct {
				File struct{ Path, Version string }
			}
		}
		must(w.t, json.Unmarshal(feed[id], &e))
		switch {
		case e.Type == "file.deleted":
			delete(files, e.Data.File.Path)
		case strings.HasPrefix(e.Type, "file."):
			files[e.Data.File.Path] = e.Data.File.Version
		}
	}
	return files
}

func equal(a, b map[string]string) bool { return len(difference(a, b)) == 0 }

func number(value types.AttributeValue) int {
	n, _ := value.(*types.AttributeValueMemberN)
	if n == nil {
		return -1
	}
	var i int
	_ = json.Unmarshal([]byte(n.Value), &i) // what DynamoDB keeps is a number
	return i
}

var leaks = []string{"injected", "dynamo", "aws", "amazon", "exception", "sqs", "table", "lambda", "secretsmanager", "127.0.0.1", "connection"}

// checkShape holds an answer of a request that storage has failed against the contract.
func checkShape(w *world, r request, a platformtest.Response) {
	w.t.Helper()
	a.WantError(w.t, 503, "SERVICE_UNAVAILABLE")
	if a.Header.Get("Retry-After") == "" {
		w.t.Errorf("%s: no Retry-After", r.name)
	}
	for _, leak := range leaks {
		if strings.Contains(strings.ToLower(string(a.Body)), leak) {
			w.t.Errorf("%s tells too much: %s", r.name, a.Body)
		}
	}
}

func TestOnlyWhatHasExpiredMayBeGone(t *testing.T) {
	t.Parallel()
	before := map[string]string{
		"over": `{"expiresAt":{"Value":"1000000000"},"pk":{"Value":"RATE"}}`, "kept": `{"expiresAt":{"Value":"9000000000"}}`, "ever": `{"pk":{"Value":"USER"}}`, "same": "x",
	}
	if got := strings.Join(difference(before, map[string]string{"same": "x", "new": "y"}), " "); got != "ever kept new" {
		t.Errorf("changed: %s", got)
	}
}
