import * as S from "@radix-ui/react-slider";
import { cn } from "@/lib/utils";

export const Slider = ({ className, ...props }: S.SliderProps) => (
  <S.Root className={cn("relative flex w-full touch-none select-none items-center", className)} {...props}>
    <S.Track className="relative h-2 w-full grow overflow-hidden rounded-full bg-secondary">
      <S.Range className="absolute h-full bg-primary" />
    </S.Track>
    <S.Thumb
      aria-label="Value"
      className="block size-5 rounded-full border-2 border-primary bg-background focus-visible:outline-none focus-visible:ring-2 focus-visible:ring-ring"
    />
  </S.Root>
);
