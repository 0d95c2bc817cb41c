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

// deliveredWithin is the longest time from the end of a fault to the delivery of all events. A message whose function
// failed is visible again after three minutes. If a message was lost, the retry job, which runs once a minute, sends
// another one after two minutes.
const deliveredWithin = 5 * time.Minute

// dumpTables returns the items of the tables as JSON, by table and key.
func (w *world) dumpTables() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, table := range []string{
		"AccountsTable", "ProjectsTable", "ContentsTable", "ConversationsTable", "WebhooksTable", "EventsTable",
	} {
		for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-"+table) {
			data, err := json.Marshal(item)
			must(w.t, err)
			all[table+" "+str(item["pk"])+" "+str(item["sk"])] = string(data)
		}
	}
	return all
}

// str returns the value of a string attribute, or "".
func str(value types.AttributeValue) string {
	s, _ := value.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

var expiry = regexp.MustCompile(`"expiresAt":\{"Value":"(\d+)"\}`)

// expired reports whether an item has expired. DynamoDB can delete it at any time.
func expired(item string) bool {
	found := expiry.FindStringSubmatch(item)
	if found == nil {
		return false
	}
	at, err := strconv.ParseInt(found[1], 10, 64)
	return err == nil && at <= time.Now().Unix()
}

// changedKeys returns the keys of the items that were added, changed or removed. It ignores the removal of expired
// items.
func changedKeys(before, after map[string]string) []string {
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

// checkConsistency checks that the project's data is consistent: the files match the events of the feed, their contents
// and the counters. The reserved tokens belong to the answers that have not ended. The conversation has no question
// without an answer.
func (w *world) checkConsistency() {
	w.t.Helper()
	projectPath := "/api/projects/" + w.project
	files := w.ada.Do("GET", projectPath+"/files", "").List(w.t, "files")
	size := 0
	listed := map[string]string{}
	for _, f := range files {
		path, version := text(f, "path"), text(f, "version")
		listed[path] = version
		read := w.ada.Do("GET", projectPath+"/files?path="+url.QueryEscape(path), "").Want(w.t, 200)
		content := text(read, "content")
		sum := sha256.Sum256([]byte(content))
		if hex.EncodeToString(sum[:]) != text(f, "sha256") || float64(len(content)) != f["size"] ||
			text(read, "version") != version {
			w.t.Errorf("the file %s is %v, and its content is %q with version %s", path, f, content, text(read, "version"))
		}
		size += len(content)
		versions := w.ada.Do("GET", projectPath+"/files/history?path="+url.QueryEscape(path), "").List(w.t, "versions")
		if text(versions[0], "version") != version {
			w.t.Errorf("the history of %s begins with %v, but the file is %v", path, versions[0], f)
		}
	}
	if fromEvents := w.filesFromEvents(); !equal(fromEvents, listed) {
		w.t.Errorf("got files %v, want %v as in the events of the feed", listed, fromEvents)
	}
	for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-ProjectsTable") {
		if str(item["pk"]) != "PROJECT#"+w.project || str(item["sk"]) != "TREE" {
			continue
		}
		if n, b := number(item["files"]), number(item["bytes"]); n != len(files) || b != size {
			w.t.Errorf("the counters have %d files of %d bytes, want %d of %d", n, b, len(files), size)
		}
	}
	w.checkReservedTokens()
	messages := w.ada.Do("GET", "/api/ai/conversations/"+w.project+"?limit=100", "").List(w.t, "messages")
	for i, m := range messages {
		if want := []string{"user", "assistant"}[i%2]; m["role"] != want {
			w.t.Errorf("message %d of %d: got role %v, want %s", i, len(messages), m["role"], want)
		}
	}
}

// checkReservedTokens checks that the reserved tokens belong to the answers that have begun and have not ended. If a
// reservation was made and its response was lost, it stays until the quota is needed.
func (w *world) checkReservedTokens() {
	w.t.Helper()
	open := 0
	for _, item := range dynamotest.Dump(w.t, w.cloud.tables, "local-ConversationsTable") {
		if item["startedAt"] != nil && item["end"] == nil {
			open += number(item["tokens"])
		}
	}
	if month := w.ada.Do("GET", "/api/ai/usage", "").Want(w.t, 200); month["reservedTokens"] != float64(open) {
		w.t.Errorf("got usage %v, want %d reserved tokens, the tokens of the answers that have not ended", month, open)
	}
}

// filesFromEvents returns the version of each file that results from all events of the feed.
func (w *world) filesFromEvents() map[string]string {
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

func equal(a, b map[string]string) bool { return len(changedKeys(a, b)) == 0 }

// number returns the value of a number attribute, or -1.
func number(value types.AttributeValue) int {
	n, _ := value.(*types.AttributeValueMemberN)
	if n == nil {
		return -1
	}
	var i int
	_ = json.Unmarshal([]byte(n.Value), &i) // cannot fail: DynamoDB stores only numbers
	return i
}

// internals are words that no response may contain, in lower case.
var internals = []string{
	"injected", "dynamo", "aws", "amazon", "exception", "sqs", "table", "lambda", "secretsmanager", "127.0.0.1",
	"connection",
}

// checkUnavailable checks the response to a request that failed because of the storage.
func checkUnavailable(w *world, r request, response platformtest.Response) {
	w.t.Helper()
	response.WantError(w.t, 503, "SERVICE_UNAVAILABLE")
	if response.Header.Get("Retry-After") == "" {
		w.t.Errorf("%s: the response has no Retry-After", r.name)
	}
	for _, word := range internals {
		if strings.Contains(strings.ToLower(string(response.Body)), word) {
			w.t.Errorf("%s: the response contains %q: %s", r.name, word, response.Body)
		}
	}
}

func TestChangedKeys(t *testing.T) {
	t.Parallel()
	before := map[string]string{
		"expired": `{"expiresAt":{"Value":"1000000000"},"pk":{"Value":"RATE"}}`,
		"expires": `{"expiresAt":{"Value":"9000000000"}}`, "never": `{"pk":{"Value":"USER"}}`, "same": "x",
	}
	got := strings.Join(changedKeys(before, map[string]string{"same": "x", "new": "y"}), " ")
	if want := "expires never new"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
