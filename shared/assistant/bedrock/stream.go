package bedrock

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/schemas"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
)

// answer collects the response to one request.
type answer struct {
	parts *provider.Queue
	// calls are the calls that have not ended. Bedrock identifies content blocks by an index, and does not guarantee that
	// they do not overlap.
	calls   map[int32]*provider.Piece
	outcome model.Outcome
	// hasBegun is set when the first event has arrived. After that, Generate does not retry.
	hasBegun bool
	// reason is the reason why the message ended. It is empty before the end.
	reason types.StopReason
	// hasUsage is set when the usage has arrived.
	hasUsage bool
}

func newAnswer(name string, emit func(model.Part) error) *answer {
	return &answer{
		parts: provider.NewQueue(emit), calls: map[int32]*provider.Piece{}, outcome: model.Outcome{Model: name},
	}
}

// stream calls ConverseStream and reads the answer from its events.
func (p *Provider) stream(ctx context.Context, r model.Request, t traits, a *answer) error {
	out, err := p.client().ConverseStream(ctx, p.newInput(r, t), func(o *bedrockruntime.Options) {
		// The client's decoder of events is shared by all calls and is not safe for concurrent streams.
		o.Protocol = restjson1.New(schemas.AmazonBedrockFrontendService)
	})
	if err != nil {
		return p.callError(err)
	}
	stream := out.GetStream()
	defer func() { _ = stream.Close() }() // also cancels the request at the server

	var timeout <-chan time.Time // set after the end of the message: for the usage, then for the end of the stream
	for {
		select {
		case event, more := <-stream.Events():
			switch {
			// The SDK reports no error if the connection is lost between two events, so the answer is complete only if the
			// event messageStop has arrived.
			case !more && a.reason == "" && ctx.Err() == nil && stream.Err() == nil:
				return unavailable("the stream ended before the message was complete")
			case !more && a.reason == "":
				return p.streamError(ctx, stream.Err())
			case !more:
				return a.finish()
			}
			a.hasBegun = true
			if err := a.readEvent(event); err != nil {
				return err
			}
			switch {
			case a.reason != "" && a.hasUsage:
				timeout = time.After(p.waits.Close)
			case a.reason != "":
				timeout = time.After(p.waits.Usage)
			}
		case <-timeout:
			return a.finish()
		}
	}
}

// readEvent reads one event. It ignores events and blocks that were not requested, such as citations, and the content
// of reasoning.
func (a *answer) readEvent(event types.ConverseStreamOutput) error {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			index := aws.ToInt32(e.Value.ContentBlockIndex)
			if a.calls[index] != nil {
				return unavailable("content block %d starts twice", index)
			}
			a.calls[index] = a.parts.AddCall(aws.ToString(start.Value.ToolUseId), aws.ToString(start.Value.Name))
			return a.parts.AddInput(a.calls[index], "")
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		switch delta := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			return a.parts.AddText(delta.Value)
		case *types.ContentBlockDeltaMemberToolUse:
			index := aws.ToInt32(e.Value.ContentBlockIndex)
			if a.calls[index] == nil {
				return unavailable("content block %d has the input of a tool call that did not start", index)
			}
			return a.parts.AddInput(a.calls[index], aws.ToString(delta.Value.Input))
		case *types.ContentBlockDeltaMemberReasoningContent:
			return a.parts.Thinking()
		}
	case *types.ConverseStreamOutputMemberContentBlockStop:
		index := aws.ToInt32(e.Value.ContentBlockIndex)
		if call := a.calls[index]; call != nil {
			delete(a.calls, index)
			return a.parts.EndCall(call)
		}
	case *types.ConverseStreamOutputMemberMessageStop:
		a.reason = e.Value.StopReason
		return a.parts.Close()
	case *types.ConverseStreamOutputMemberMetadata:
		a.readUsage(e.Value.Usage)
	}
	return nil
}

// readUsage reads the usage. In Bedrock's count, the input does not include tokens that were read from the cache or
// written to it.
func (a *answer) readUsage(u *types.TokenUsage) {
	if u == nil {
		return
	}
	a.hasUsage = true
	input := aws.ToInt32(u.InputTokens) + aws.ToInt32(u.CacheReadInputTokens) + aws.ToInt32(u.CacheWriteInputTokens)
	a.outcome.Usage = model.Usage{Input: int(input), Output: int(aws.ToInt32(u.OutputTokens))}
}

// finish sets the outcome of a message that has ended. Some models end with tool_use although they called no tool, or
// with end_turn although they called one. Therefore, the number of calls determines the result.
func (a *answer) finish() error {
	switch a.reason {
	case types.StopReasonEndTurn, types.StopReasonStopSequence, types.StopReasonToolUse:
		a.outcome.Stop = model.StopEnd
		if a.parts.CallCount > 0 {
			a.outcome.Stop = model.StopTools
		}
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		a.outcome.Stop = model.StopLength
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, "refusal":
		return &model.Error{Fault: model.Refused, Cause: fmt.Errorf("the answer stopped with %q", a.reason)}
	default:
		// After malformed_model_output and malformed_tool_use, a part of the answer is missing. After an unknown
		// reason, a part may be missing too.
		return unavailable("the answer stopped with %q", a.reason)
	}
	return nil
}

// unavailable returns the error for an answer that is not complete or does not follow Bedrock's protocol.
func unavailable(format string, args ...any) *model.Error {
	return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf(format, args...)}
}
