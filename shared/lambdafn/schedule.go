package lambdafn

import (
	"context"
	"fmt"
	"log/slog"

	"devplatform/shared/fault"
)

// Schedule makes the function's handler of what is done when a schedule says so, whatever it says besides.
func Schedule(logger *slog.Logger, run func(ctx context.Context) error) *ScheduleHandler {
	return &ScheduleHandler{logger: logger, run: run}
}

// ScheduleHandler implements aws-lambda-go's Handler.
type ScheduleHandler struct {
	logger *slog.Logger
	run    func(context.Context) error
}

// Invoke runs once. Its error, what run answered with or a panic, makes the invocation fail.
func (h *ScheduleHandler) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	ctx, cancel := WithMargin(ctx)
	defer cancel()
	err := fault.Recover(func() error { return h.run(ctx) })
	if err != nil {
		h.logger.LogAttrs(ctx, slog.LevelError, "scheduled run", append(requestID(ctx), slog.String("cause", err.Error()))...)
		return nil, fmt.Errorf("lambdafn: scheduled run: %w", err)
	}
	h.logger.LogAttrs(ctx, slog.LevelInfo, "scheduled run", requestID(ctx)...)
	return []byte("null"), nil
}
