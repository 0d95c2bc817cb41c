package lambdafn

import (
	"context"
	"fmt"
	"log/slog"

	"devplatform/shared/fault"
)

// Schedule returns a handler that calls run for each event of a schedule. It ignores the contents of the event.
func Schedule(logger *slog.Logger, run func(ctx context.Context) error) *ScheduleHandler {
	return &ScheduleHandler{logger: logger, run: run}
}

// ScheduleHandler implements aws-lambda-go's Handler.
type ScheduleHandler struct {
	logger *slog.Logger
	run    func(context.Context) error
}

// Invoke calls run once. An error or a panic of run makes the invocation fail.
func (h *ScheduleHandler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	ctx, cancel := WithMargin(ctx)
	defer cancel()
	if err := fault.Recover(func() error { return h.run(ctx) }); err != nil {
		h.logger.LogAttrs(ctx, slog.LevelError, "scheduled run",
			append(requestID(ctx), slog.String("cause", err.Error()))...)
		return nil, fmt.Errorf("lambdafn: scheduled run: %w", err)
	}
	h.logger.LogAttrs(ctx, slog.LevelInfo, "scheduled run", requestID(ctx)...)
	return []byte("null"), nil
}
