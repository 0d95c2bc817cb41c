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

// answer is what has come of one.
type answer struct {
	parts   *order
	outcome model.Outcome
	// begun says that something has come: an attempt that has begun is the only one.
	begun bool
	// reason is why the message ended; empty while it has not.
	reason types.StopReason
	// counted says that the usage has come.
	counted bool
}

func newAnswer(name string, emit func(model.Part) error) *answer {
	return &answer{parts: newOrder(emit), outcome: model.Outcome{Model: name}}
}

// stream asks for an answer in events.
func (p *Provider) stream(ctx context.Context, r model.Request, t traits, a *answer) error {
	in := newInput(r, t)
	out, err := p.client().ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: &p.model, System: in.system, Messages: in.messages, ToolConfig: in.tools, InferenceConfig: in.inference,
	}, ownProtocol)
	if err != nil {
		return p.refused(ctx, err)
	}
	stream := out.GetStream()
	defer func() { _ = stream.Close() }() // and with it the request, at the server

	var patience <-chan time.Time // runs out once the message has ended
	for {
		select {
		case event, more := <-stream.Events():
			if !more {
				return p.streamEnd(ctx, a, stream.Err())
			}
			a.begun = true
			if err := a.take(event); err != nil {
				return err
			}
			patience = p.patience(a)
		case <-patience:
			return a.end()
		}
	}
}

// patience is how long the rest of a complete answer is waited for: its usage, and then the stream's end.
func (p *Provider) patience(a *answer) <-chan time.Time {
	switch {
	case a.reason == "":
		return nil
	case a.counted:
		return time.After(p.closeWait)
	}
	return time.After(p.usageWait)
}

// streamEnd judges a stream that is over. The SDK takes one that was cut for one that has ended; only the message's own end tells
// them apart, and after that nothing is missing but, perhaps, the usage.
func (p *Provider) streamEnd(ctx context.Context, a *answer, err error) error {
	switch {
	case a.reason != "":
		return a.end()
	case ctx.Err() != nil || err != nil:
		return p.brokeOff(ctx, err)
	}
	return broken("the stream ended before the message did")
}

// take reads one event. Events and blocks of other kinds (citations, images) are none of ours; of reasoning only that it goes on.
func (a *answer) take(event types.ConverseStreamOutput) error {
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
		a.count(e.Value.Usage)
		if trace := e.Value.Trace; trace != nil {
			a.routed(trace.PromptRouter)
		}
	}
	return nil
}

// count takes the usage. Bedrock counts tokens that came out of the cache, or went into it, beside those of the input.
func (a *answer) count(u *types.TokenUsage) {
	if u == nil {
		return
	}
	read, write := int(aws.ToInt32(u.CacheReadInputTokens)), int(aws.ToInt32(u.CacheWriteInputTokens))
	a.counted = true
	a.outcome.Usage = model.Usage{
		Input: int(aws.ToInt32(u.InputTokens)) + read + write, Output: int(aws.ToInt32(u.OutputTokens)),
		CacheRead: read, CacheWrite: write,
	}
}

// routed takes the name of the model that a prompt router chose.
func (a *answer) routed(trace *types.PromptRouterTrace) {
	if trace != nil && aws.ToString(trace.InvokedModelId) != "" {
		a.outcome.Model = *trace.InvokedModelId
	}
}

// end judges a message that has ended by the reason it gave. Whether there are calls to answer, the calls tell: models end with
// tool_use and have called nothing, and with end_turn when they have.
func (a *answer) end() error {
	switch a.reason {
	case types.StopReasonEndTurn, types.StopReasonStopSequence, types.StopReasonToolUse:
		a.outcome.Stop = model.StopEnd
		if a.parts.begun > 0 {
			a.outcome.Stop = model.StopTools
		}
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		a.outcome.Stop = model.StopLength
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, "refusal":
		return &model.Error{Fault: model.Refused, Cause: fmt.Errorf("the answer stopped with %q", a.reason)}
	default:
		// malformed_model_output and malformed_tool_use: a part of the answer is missing. Reasons that are yet to be invented are no
		// word that it is complete, either.
		return &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("the answer stopped with %q", a.reason)}
	}
	return nil
}

// converse asks for an answer in one piece.
func (p *Provider) converse(ctx context.Context, r model.Request, t traits, a *answer) error {
	in := newInput(r, t)
	out, err := p.client().Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId: &p.model, System: in.system, Messages: in.messages, ToolConfig: in.tools, InferenceConfig: in.inference,
	}, ownProtocol)
	if err != nil {
		return p.refused(ctx, err)
	}
	a.begun = true
	a.count(out.Usage)
	if out.Trace != nil {
		a.routed(out.Trace.PromptRouter)
	}
	if message, ok := out.Output.(*types.ConverseOutputMemberMessage); ok {
		for i, block := range message.Value.Content {
			if err := a.takeBlock(int32(i), block); err != nil {
				return err
			}
		}
	}
	a.reason = out.StopReason
	return a.end()
}

// takeBlock reads one block of a message that came in one piece.
func (a *answer) takeBlock(index int32, block types.ContentBlock) error {
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
				return broken("a tool's input that can't be read")
			}
			if err := a.parts.input(index, string(input)); err != nil {
				return err
			}
		}
		return a.parts.end(index)
	}
	return nil
}

// broken is an answer that is not what Bedrock says an answer is.
func broken(what string) *model.Error {
	return &model.Error{Fault: model.Unavailable, Cause: errors.New(what)}
}
