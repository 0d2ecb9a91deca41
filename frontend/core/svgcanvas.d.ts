// svgcanvas has no types of its own: what this project uses of it.
declare module "svgcanvas" {
  export const Context: new (options: { width: number; height: number }) => CanvasRenderingContext2D & {
    getSvg(): SVGSVGElement;
  };
}
