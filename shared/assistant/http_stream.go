package assistant

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// patience is how long a stream waits for the model's first word, so that an error until then is an ordinary answer.
const patience = 3 * time.Second

// saying is something that a listener is told.
type saying = func(*uistream.Writer) error

// telling is a conversation that is listened to.
type telling struct {
	said chan saying
	// reply and err are there once said is closed.
	reply reply
	err   error
}

// begin converses in the background. Whatever is said has to be taken.
func (s *Service) begin(ctx context.Context, q question) *telling {
	t := &telling{said: make(chan saying)}
	go func() {
		defer close(t.said)
		t.err = fault.Recover(func() (err error) {
			t.reply, err = s.converse(ctx, q, func(say saying) { t.said <- say })
			return err
		})
	}()
	return t
}

func (s *Service) handleStream(ctx context.Context, in *chatInput) (*huma.StreamResponse, error) {
	t := s.begin(ctx, in.question())
	first, ended := t.wait(2) // the first thing said is the answer's id, before the model was heard
	if ended && t.err != nil {
		return nil, t.err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) { t.stream(hc, first) }}, nil
}

// wait takes n things that are said, or as many as are said until patience ends, or all.
func (t *telling) wait(n int) (first []saying, ended bool) {
	over := time.After(patience)
	for len(first) < n {
		select {
		case say, ok := <-t.said:
			if !ok {
				return first, true
			}
			first = append(first, say)
		case <-over:
			return first, false
		}
	}
	return first, false
}

// stream writes what is said as it is said. A client that has gone is no reason to stop listening: what is made is stored.
func (t *telling) stream(hc huma.Context, first []saying) {
	out := httpapi.EventStreamOf(hc)
	w := uistream.NewWriter(out, out.FlushError, uistream.Options{})
	defer w.Close()
	for _, say := range first {
		_ = say(w)
	}
	for say := range t.said {
		_ = say(w)
	}
	t.end(out, w)
}

// end says how it ended, to a client that may have gone.
func (t *telling) end(out *httpapi.EventStream, w *uistream.Writer) {
	if t.err != nil {
		if !w.Begun() {
			w.Close()
		}
		if out.Fail(t.err) { // an ordinary answer; of one that has begun only the log hears
			return
		}
		_ = w.Error(httpapi.AsError(t.err).Message)
		_ = w.Finish(uistream.Failed)
		return
	}
	_ = w.Data("result", t.reply)
	_ = w.Finish(reasonOf(t.reply.stop))
}

// reasonOf is why an answer ended, in the protocol's words. Calls of tools are no reason: nobody is asked for their results.
func reasonOf(stop model.Stop) uistream.Reason {
	switch stop {
	case model.StopEnd, model.StopTools:
		return uistream.Stop
	case model.StopLength:
		return uistream.Length
	default:
		return uistream.Other
	}
}
