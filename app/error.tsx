"use client";

/** Next hands errors of a page to the browser without their text; neither do we show any. */
export default function PageError() {
  return (
    <main className="mx-auto max-w-md px-4 pt-16 text-center">
      <h1 className="text-2xl font-bold">Something failed on our side</h1>
      <p className="text-muted mt-3">Nothing was decided by it. Please load the page again.</p>
      <p className="text-muted mt-3" lang="ja">
        こちら側で問題が起きました。何も決定されていません。ページを再読み込みしてください。
      </p>
    </main>
  );
}
