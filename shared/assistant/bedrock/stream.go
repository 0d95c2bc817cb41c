package bedrock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"devplatform/shared/assistant/model"
)

// answer collects the response to one request.
type answer struct {
	parts   *partQueue
	outcome model.Outcome
	// hasBegun is set when the first event has arrived. After that, Generate does not retry.
	hasBegun bool
	// reason is the reason why the message ended. It is empty before the end.
	reason types.StopReason
	// hasUsage is set when the usage has arrived.
	hasUsage bool
}

func newAnswer(name string, emit func(model.Part) error) *answer {
	return &answer{parts: newPartQueue(emit), outcome: model.Outcome{Model: name}}
}

// stream calls ConverseStream and reads the answer from its events.
func (p *Provider) stream(ctx context.Context, r model.Request, t traits, a *answer) error {
	in := newInput(r, t)
	out, err := p.client().ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: &p.model, System: in.system, Messages: in.messages, ToolConfig: in.tools, InferenceConfig: in.inference,
	}, withOwnDecoder)
	if err != nil {
		return p.callError(ctx, err)
	}
	stream := out.GetStream()
	defer func() { _ = stream.Close() }() // also cancels the request at the server

	var timeout <-chan time.Time // set after the end of the message
	for {
		select {
		case event, more := <-stream.Events():
			if !more {
				return p.endOfStream(ctx, a, stream.Err())
			}
			a.hasBegun = true
			if err := a.readEvent(event); err != nil {
				return err
			}
			timeout = p.timeout(a)
		case <-timeout:
			return a.finish()
		}
	}
}

// timeout limits the wait after the end of the message: first for the usage, then for the end of the stream.
func (p *Provider) timeout(a *answer) <-chan time.Time {
	switch {
	case a.reason == "":
		return nil
	case a.hasUsage:
		return time.After(p.closeWait)
	}
	return time.After(p.usageWait)
}

// endOfStream returns the result after the end of a stream. The SDK reports no error if the connection is lost between
// two events, so the answer is complete only if the event messageStop has arrived.
func (p *Provider) endOfStream(ctx context.Context, a *answer, err error) error {
	switch {
	case a.reason != "":
		return a.finish()
	case ctx.Err() != nil || err != nil:
		return p.streamError(ctx, err)
	}
	return malformedError("the stream ended before the message was complete")
}

// readEvent reads one event. It ignores events and blocks that were not requested, such as citations, and the content
// of reasoning.
func (a *answer) readEvent(event types.ConverseStreamOutput) error {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			return a.parts.start(aws.ToInt32(e.Value.ContentBlockIndex),
				aws.ToString(start.Value.ToolUseId), aws.ToString(start.Value.Name))
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		switch delta := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			return a.parts.text(delta.Value)
		case *types.ContentBlockDeltaMemberToolUse:
			return a.parts.input(aws.ToInt32(e.Value.ContentBlockIndex), aws.ToString(delta.Value.Input))
		case *types.ContentBlockDeltaMemberReasoningContent:
			return a.parts.thinking()
		}
	case *types.ConverseStreamOutputMemberContentBlockStop:
		return a.parts.end(aws.ToInt32(e.Value.ContentBlockIndex))
	case *types.ConverseStreamOutputMemberMessageStop:
		a.reason = e.Value.StopReason
		return a.parts.close()
	case *types.ConverseStreamOutputMemberMetadata:
		a.readUsage(e.Value.Usage)
		if trace := e.Value.Trace; trace != nil {
			a.readRouter(trace.PromptRouter)
		}
	}
	return nil
}

// readUsage reads the usage. In Bedrock's count, the input does not include tokens that were read from the cache or
// written to it.
func (a *answer) readUsage(u *types.TokenUsage) {
	if u == nil {
		return
	}
	read, write := int(aws.ToInt32(u.CacheReadInputTokens)), int(aws.ToInt32(u.CacheWriteInputTokens))
	a.hasUsage = true
	a.outcome.Usage = model.Usage{
		Input: int(aws.ToInt32(u.InputTokens)) + read + write, Output: int(aws.ToInt32(u.OutputTokens)),
		CacheRead: read, CacheWrite: write,
	}
}

// readRouter reads the name of the model that a prompt router chose.
func (a *answer) readRouter(trace *types.PromptRouterTrace) {
	if trace != nil && aws.ToString(trace.InvokedModelId) != "" {
		a.outcome.Model = *trace.InvokedModelId
	}
}

// finish sets the outcome of a message that has ended. Some models end with tool_use although they called no tool, or
// with end_turn although they called one. Therefore, the number of calls determines the result.
func (a *answer) finish() error {
	switch a.reason {
	case types.StopReasonEndTurn, types.StopReasonStopSequence, types.StopReasonToolUse:
		a.outcome.Stop = model.StopEnd
		if a.parts.calls > 0 {
			a.outcome.Stop = model.StopTools
		}
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		a.outcome.Stop = model.StopLength
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, "refusal":
		return &model.Error{Fault: model.Refused, Cause: fmt.Errorf("the answer stopped with %q", a.reason)}
	default:
		// After malformed_model_output and malformed_tool_use, a part of the answer is missing. After an unknown
		// reason, a part may be missing too.
		return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("the answer stopped with %q", a.reason)}
	}
	return nil
}

// converse calls Converse, which returns the whole answer.
func (p *Provider) converse(ctx context.Context, r model.Request, t traits, a *answer) error {
	in := newInput(r, t)
	out, err := p.client().Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId: &p.model, System: in.system, Messages: in.messages, ToolConfig: in.tools, InferenceConfig: in.inference,
	}, withOwnDecoder)
	if err != nil {
		return p.callError(ctx, err)
	}
	a.hasBegun = true
	a.readUsage(out.Usage)
	if out.Trace != nil {
		a.readRouter(out.Trace.PromptRouter)
	}
	if message, ok := out.Output.(*types.ConverseOutputMemberMessage); ok {
		for i, block := range message.Value.Content {
			if err := a.readBlock(int32(i), block); err != nil {
				return err
			}
		}
	}
	a.reason = out.StopReason
	return a.finish()
}

// readBlock reads one block of a whole answer.
func (a *answer) readBlock(index int32, block types.ContentBlock) error {
	switch b := block.(type) {
	case *types.ContentBlockMemberText:
		return a.parts.text(b.Value)
	case *types.ContentBlockMemberToolUse:
		if err := a.parts.start(index, aws.ToString(b.Value.ToolUseId), aws.ToString(b.Value.Name)); err != nil {
			return err
		}
		if b.Value.Input != nil {
			input, err := b.Value.Input.MarshalSmithyDocument()
			if err != nil {
				return malformedError("the input of a tool call is not valid")
			}
			if err := a.parts.input(index, string(input)); err != nil {
				return err
			}
		}
		return a.parts.end(index)
	}
	return nil
}

// malformedError returns the error for an answer that does not follow Bedrock's protocol.
func malformedError(text string) *model.Error {
	return &model.Error{Fault: model.Unavailable, Cause: errors.New(text)}
}
