package sqs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/infra/local/datafolder"
)

// modelMessage is a message in the model.
type modelMessage struct {
	body          string
	sent, visible int64
	receives      int64
	handle        string // of the last receive
	dead          bool   // in the dead-letter queue
}

// model is a queue with a dead-letter queue, without an index.
type model struct {
	now                    int64
	retention, maxReceives int64
	messages               []*modelMessage
	handles                []string // all that were returned
	handleOf               map[string]*modelMessage
}

func (m *model) expire() {
	m.messages = slices.DeleteFunc(m.messages, func(x *modelMessage) bool {
		return !x.dead && x.sent+m.retention*1000 <= m.now || x.dead && x.sent+defaultRetention*1000 <= m.now
	})
}

// counts returns "visible in-flight delayed" of the queue, or of its dead-letter queue.
func (m *model) counts(dead bool) string {
	m.expire()
	var visible, inFlight, delayed int
	for _, x := range m.messages {
		switch {
		case x.dead != dead:
		case x.visible <= m.now:
			visible++
		case x.receives > 0:
			inFlight++
		default:
			delayed++
		}
	}
	return fmt.Sprint(visible, " ", inFlight, " ", delayed)
}

func (m *model) find(body string) *modelMessage {
	for _, x := range m.messages {
		if x.body == body {
			return x
		}
	}
	return nil
}

// checkReceived checks the messages of a response, and updates the model.
func (m *model) checkReceived(t *rapid.T, dead bool, most int, visibility int64, got []any) {
	m.expire()
	var due []*modelMessage // can be received
	for _, x := range m.messages {
		if x.dead == dead && x.visible <= m.now && (dead || x.receives < m.maxReceives) {
			due = append(due, x)
		}
	}
	if want := min(most, len(due)); len(got) != want {
		t.Fatalf("got %d messages, want %d", len(got), want)
	}
	for _, one := range got {
		message := one.(map[string]any)
		x := m.find(message["Body"].(string))
		if x == nil || !slices.Contains(due, x) {
			t.Fatalf("got %v, which cannot be received", message["Body"])
		}
		due = slices.DeleteFunc(due, func(y *modelMessage) bool { return y == x })
		x.receives++
		x.visible, x.handle = m.now+visibility*1000, message["ReceiptHandle"].(string)
		if count := message["Attributes"].(map[string]any)["ApproximateReceiveCount"]; count != fmt.Sprint(x.receives) {
			t.Fatalf("%s counts %v receives, want %d", x.body, count, x.receives)
		}
		if slices.Contains(m.handles, x.handle) {
			t.Fatalf("handle %s again", x.handle)
		}
		m.handles = append(m.handles, x.handle)
		m.handleOf[x.handle] = x
	}
}

// markMovedToDead marks the messages that a receive has moved to the dead-letter queue. The model does not know the order
// of messages, so it looks at the engine.
func (m *model) markMovedToDead(s *Store) {
	for _, e := range s.queues["dead"].messages {
		for _, x := range m.messages {
			if !x.dead && x.receives >= m.maxReceives && x.visible <= m.now && x.sent == e.sent && int64(e.receives) == x.receives && x.body == bodyOf(s, e.number) {
				x.dead, x.visible = true, m.now
			}
		}
	}
}

func bodyOf(s *Store, number uint64) string {
	body, _ := datafolder.Read(s.folder.DB, bodyKey(number))
	return string(body)
}

// A queue behaves like the model for any sequence of operations.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		clock := newTestClock()
		s := openTest(t, func(o *Options) { o.Now = clock.Now })
		m := &model{
			now: clock.Now().UnixMilli(), retention: 300, maxReceives: 3, handleOf: map[string]*modelMessage{},
		}
		must(t, s, "CreateQueue", `{"QueueName":"dead"}`)
		must(t, s, "CreateQueue", `{"QueueName":"q","Attributes":{"VisibilityTimeout":"20","MessageRetentionPeriod":"300","RedrivePolicy":"`+
			strings.ReplaceAll(redriveTo("dead", int(m.maxReceives)), `"`, `\"`)+`"}}`)
		sent := 0
		handle := func(r *rapid.T) string {
			if len(m.handles) == 0 {
				r.Skip("no handles")
			}
			return rapid.SampledFrom(m.handles[max(0, len(m.handles)-20):]).Draw(r, "handle")
		}
		r.Repeat(map[string]func(*rapid.T){
			"send": func(r *rapid.T) {
				delay := rapid.Int64Range(0, 3).Draw(r, "delay") * 10
				body := fmt.Sprint("m", sent)
				sent++
				must(t, s, "SendMessage", fmt.Sprintf(`{URL(q),"MessageBody":"%s","DelaySeconds":%d,"MessageGroupId":"g%d"}`, body, delay, rapid.IntRange(0, 2).Draw(r, "group")))
				m.messages = append(m.messages, &modelMessage{body: body, sent: m.now, visible: m.now + delay*1000})
			},
			"receive": func(r *rapid.T) {
				most, visibility := rapid.IntRange(1, 10).Draw(r, "most"), rapid.Int64Range(0, 40).Draw(r, "visibility")
				got := must(t, s, "ReceiveMessage", fmt.Sprintf(`{URL(q),"MaxNumberOfMessages":%d,"VisibilityTimeout":%d,"AttributeNames":["All"]}`, most, visibility))
				messages, _ := got.body["Messages"].([]any)
				m.markMovedToDead(s)
				m.checkReceived(r, false, most, visibility, messages)
			},
			"receive the dead": func(r *rapid.T) {
				got := must(t, s, "ReceiveMessage", `{URL(dead),"MaxNumberOfMessages":10,"VisibilityTimeout":5,"AttributeNames":["All"]}`)
				messages, _ := got.body["Messages"].([]any)
				m.checkReceived(r, true, 10, 5, messages)
			},
			"delete": func(r *rapid.T) {
				h := handle(r)
				x := m.handleOf[h]
				name := "q"
				if m.isDead(s, h) {
					name = "dead"
				}
				must(t, s, "DeleteMessage", `{URL(`+name+`),"ReceiptHandle":"`+h+`"}`)
				m.messages = slices.DeleteFunc(m.messages, func(y *modelMessage) bool { return y == x && y.handle == h && y.dead == (name == "dead") })
			},
			"change visibility": func(r *rapid.T) {
				h, seconds := handle(r), rapid.Int64Range(0, 30).Draw(r, "seconds")
				x := m.handleOf[h]
				if m.isDead(s, h) {
					r.Skip("of the dead-letter queue")
				}
				m.expire()
				possible := slices.Contains(m.messages, x) && x.handle == h && !x.dead && x.visible > m.now
				got := call(t, s, "ChangeMessageVisibility", fmt.Sprintf(`{URL(q),"ReceiptHandle":"%s","VisibilityTimeout":%d}`, h, seconds))
				if (got.status == 200) != possible {
					r.Fatalf("changing %s: %s", x.body, got.raw)
				}
				if possible {
					x.visible = m.now + seconds*1000
				}
			},
			"wait": func(r *rapid.T) {
				d := time.Duration(rapid.IntRange(1, 100).Draw(r, "halves of a second")) * time.Second / 2
				clock.advance(d)
				m.now += d.Milliseconds()
			},
			"": func(r *rapid.T) {
				m.expire()
				for name, dead := range map[string]bool{"q": false, "dead": true} {
					got := must(t, s, "GetQueueAttributes", `{URL(`+name+`),"AttributeNames":["All"]}`).body["Attributes"].(map[string]any)
					have := fmt.Sprint(got["ApproximateNumberOfMessages"], " ", got["ApproximateNumberOfMessagesNotVisible"], " ", got["ApproximateNumberOfMessagesDelayed"])
					if want := m.counts(dead); have != want {
						r.Fatalf("%s has %s, want %s", name, have, want)
					}
					checkIndex(r, &s.queues[name].index)
				}
				if have, want := s.keysOnDisk(t), fmt.Sprintf("2 queues, %d bodies, %d entries", len(m.messages), len(m.messages)); have != want {
					r.Fatalf("on disk: %s, want %s", have, want)
				}
			},
		})
	})
}

// isDead reports whether a handle is of the dead-letter queue.
func (m *model) isDead(s *Store, handle string) bool {
	_, err := s.queues["dead"].parseReceipt(handle)
	return err == nil
}

// checkIndex checks that the parts of an index are consistent.
func checkIndex(t *rapid.T, x *index) {
	visible, inFlight := 0, 0
	for name, g := range x.groups {
		line, turn := 0, uint64(0)
		for m := g.head; m != nil; m = m.next {
			if m.group != g || m.turn <= turn || m.hiddenAt != notInHeap || x.messages[m.number] != m {
				t.Fatalf("group %q: message %d is not in order", name, m.number)
			}
			turn = m.turn
			line++
		}
		if (g.readyAt != notInHeap) != (line > 0) {
			t.Fatalf("group %q has %d visible messages and is at %d", name, line, g.readyAt)
		}
		visible += line
		inFlight += g.inFlight
	}
	fewest := math.MaxInt
	for _, g := range x.ready.members {
		fewest = min(fewest, g.inFlight)
	}
	if first, ok := x.ready.first(); ok && first.inFlight != fewest {
		t.Fatalf("group %q with %d in flight is before one with %d", first.name, first.inFlight, fewest)
	}
	if visible != x.visible || inFlight != x.inFlight || visible+len(x.hidden.members) != len(x.messages) || len(x.aged.members) != len(x.messages) {
		t.Fatalf("the index counts %d visible, %d in flight, %d hidden of %d messages", x.visible, x.inFlight, len(x.hidden.members), len(x.messages))
	}
}
